"""The studies of the source documents, and the runner that they share with a user's own."""
