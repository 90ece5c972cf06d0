# LabDL for a JupyterHub, or alone: docker build --tag labdl . && docker run --rm --publish 8888:8888 labdl
FROM python:3.11-slim
RUN useradd --create-home --uid 1000 jovyan && python -m venv /opt/environment && chown -R jovyan /opt/environment
ENV PATH=/opt/environment/bin:$PATH
COPY --chown=jovyan . /opt/labdl
USER jovyan
RUN /opt/labdl/binder/postBuild && pip install --no-cache-dir "jupyterhub>=5,<6"
WORKDIR /home/jovyan
ENTRYPOINT ["/opt/labdl/binder/start"]
CMD ["jupyter", "lab", "--ip=0.0.0.0"]
