"""Data from elsewhere, read in bounded time and memory: regular files, archives, JSON and protocol buffers."""
