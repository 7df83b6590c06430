"""Homes of the core beside the relay, one file each; none knows another."""
