"""Data sets of pictures with annotations: boxes, masks and key points, in the formats of COCO, VOC, YOLO and others."""
