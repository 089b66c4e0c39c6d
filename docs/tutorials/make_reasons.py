"""Write the log of a bank that states reason codes for its refusals, in one file and in two."""

import faithkit

decisions = faithkit.load_dataset("reasons")
log = decisions.X.assign(decision=decisions.y)
log.to_csv("decisions.csv", index=False)
log.drop(columns=["reason_1", "reason_2"]).to_csv("predictions.csv", index=False)
log[["applicant", "reason_1", "reason_2"]].to_parquet("stated.parquet")
