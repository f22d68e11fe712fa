"""Serves a chat model and an embedding model with llama.cpp on loopback, until standard input ends. Prints their addresses as JSON."""

import json
import signal
import sys
from pathlib import Path

import xllamacpp


def params_of(path, alias, options):
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options["threads"]
    params.n_gpu_layers = 0
    params.verbosity = 1
    return params


def chat(options):
    params = params_of(options["gguf"], options["model"], options)
    params.n_parallel = options["parallel"]
    params.n_ctx = options["context"] * options["parallel"]
    params.use_jinja = True
    # A reply that repeats itself would otherwise fill the context.
    params.n_predict = options["maxTokens"]
    if options["template"] is not None:
        params.chat_template = Path(options["template"]).read_text(encoding="utf8")
    return params


def embeddings(options):
    params = params_of(options["embeddingGguf"], options["embeddingModel"], options)
    params.embedding = True
    params.n_ctx = params.n_batch = params.n_ubatch = 512
    return params


# Ctrl-C reaches all processes of a terminal; the one that started this one ends it.
signal.signal(signal.SIGINT, signal.SIG_IGN)
options = json.loads(sys.argv[1])
servers = {"chat": xllamacpp.Server(chat(options)), "embeddings": xllamacpp.Server(embeddings(options))}
print(json.dumps({name: server.listening_address for name, server in servers.items()}), flush=True)
sys.stdin.read()
