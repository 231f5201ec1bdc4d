"""Fleet leases: the table that decides, the store that keeps, the authority that answers, the requester that asks."""
