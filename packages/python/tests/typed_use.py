"""A user's program, which type checkers read and which no test runs."""

from agent_rental import ApiError, Client, Run, SpendingPolicy, Wallet

policy = SpendingPolicy(max_day=50_000_000, approve=lambda spend: spend.lamports < 1_000_000)
with Client("http://127.0.0.1:8787", wallet=Wallet.from_file("wallet.json"), policy=policy) as client:
    try:
        for piece in client.stream("invoice-reader-k3x7qa", "Read it.", {"text": "EUR 12"}):
            print(piece.cost_lamports if isinstance(piece, Run) else piece, end="")
        print(client.hire("Read an invoice.", budget_lamports=10_000_000).run.output)
    except ApiError as error:
        print(error.code, error.next_step)
