"""What an agent author uses: verdict filing and context rendering over a ledger."""
