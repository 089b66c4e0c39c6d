"""Write the log of a bank that states reason codes for its refusals."""

import faithkit

decisions = faithkit.load_dataset("reasons")
decisions.X.assign(decision=decisions.y).to_csv("decisions.csv", index=False)
