"""Transforms of pictures and of what belongs to them: boxes, masks, key points; and of clips."""
