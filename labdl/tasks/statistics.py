"""Means and deviations of colors, as shares of white, that public models of pictures and clips are trained with."""

IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
KINETICS = {"mean": (0.43216, 0.394666, 0.37645), "std": (0.22803, 0.22145, 0.216989)}  # torchvision's clips
