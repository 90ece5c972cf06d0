"""Files: those from elsewhere are read in bounded time and memory, and writes are atomic."""
