"""A selector or a predictor as a model of ONNX; needs onnx when it is used."""
