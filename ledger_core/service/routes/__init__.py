"""The routes, a file for each plane; every handler is thin: read the request, ask the room, answer."""
