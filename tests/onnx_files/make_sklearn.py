"""Converts fitted scikit-learn models (1.9.1) with skl2onnx 1.20.0: ``python make_sklearn.py``."""

import numpy as np
from recording import path, record
from skl2onnx import to_onnx
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

X, CLASSES = make_classification(60, 6, n_informative=4, n_classes=3, random_state=0)
_, NUMBERS = make_regression(60, 6, random_state=0)
NUMBERS = NUMBERS / NUMBERS.std()
NETWORK = {"hidden_layer_sizes": (5,), "max_iter": 30, "random_state": 0}
MODELS = {
    "scaler_mlp": (make_pipeline(StandardScaler(), MLPClassifier(**NETWORK)), CLASSES),
    "mlp_regressor": (make_pipeline(MinMaxScaler(), MLPRegressor(activation="tanh", **NETWORK)), NUMBERS),
    "logistic_regression": (LogisticRegression(), CLASSES),
    "pca_linear_regression": (make_pipeline(PCA(3), LinearRegression()), NUMBERS),
    "random_forest": (RandomForestClassifier(2, max_depth=2, random_state=0), CLASSES),
}


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    for name, (model, targets) in MODELS.items():
        model.fit(X.astype("float32"), targets)
        options = {"zipmap": False} if hasattr(model, "predict_proba") else {}
        made = to_onnx(
            model, X[:1].astype("float32"), options={id(model): options} if options else None, target_opset=18
        )
        file = path("sklearn", name)
        file.write_bytes(made.SerializeToString())
        cases = []
        for rows in (X[:2], X[2:5]):
            x = rows.astype("float32")
            outputs = [model.predict(x)]
            if options:
                outputs.append(model.predict_proba(x))
            cases.append(([x], [np.asarray(o).reshape(-1, 1) if not options else o for o in outputs]))
        record("sklearn", name, cases)
