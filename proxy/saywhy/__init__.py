"""saywhy: structured errors for AI agents, in front of a site that nobody changes."""
