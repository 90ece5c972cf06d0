"""Models of video clips."""
