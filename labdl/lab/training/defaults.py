"""Numbers of a training that nobody has set yet: in the form of the Train panel, and in code for cells."""

LEARNING_RATE = 0.003
EPOCHS = 20
BATCH_SIZE = 32
SEED = 0
