"""The two contracts as tables and one model, which everything else reads.

`words` holds the closed vocabularies, `codes`, `kinds` and `statuses` one table each, `envelope` the model, `schema`
its JSON Schema. Nothing here decides about a response.
"""
