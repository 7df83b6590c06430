"""A bakery's site: the rule that its operator wrote, with a place for the code."""

RULES = """
pack: bakery
about: What this bakery says.
rules:
  - id: cold-oven
    about: The oven is cold.
    when: {status: [404], contains: [oven is cold]}
    then: {code: %s, message: The bakery is closed today.}
"""
