"""Worker processes that read samples and write their batches into shared memory."""
