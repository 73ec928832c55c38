"""Train scorers of candidates: objectives, learners, calibration, and what a trained model remembers."""
