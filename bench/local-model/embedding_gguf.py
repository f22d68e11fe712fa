"""Writes all-MiniLM-L6-v2 as GGUF: `embedding_gguf.py MODEL.zip OUTPUT.gguf`. The zip has `model.safetensors` and `tokenizer.json`."""

import json
import sys
import zipfile

import numpy as np
from gguf import GGUFWriter, PoolingType, TokenType

DTYPES = {"F32": np.float32, "F16": np.float16}

# Prefixes in the safetensors file, and in llama.cpp.
OUTER = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}
IN_LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def tensors(data):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = (8 + length + offset for offset in entry["data_offsets"])
            values = np.frombuffer(data[first:last], DTYPES.get(entry["dtype"], np.int64))
            yield name, values.reshape(entry["shape"])


def name_of(name):
    prefix, kind = name.rsplit(".", 1)
    if prefix in OUTER:
        return f"{OUTER[prefix]}.{kind}"
    if prefix.startswith("encoder.layer."):
        _, _, layer, rest = prefix.split(".", 3)
        return f"blk.{layer}.{IN_LAYER[rest]}.{kind}"
    return None


def add_tokens(writer, tokenizer):
    """In llama.cpp, a token that begins a word has a mark in front, and others have no "##"."""
    words = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    special = {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    texts = [word if at in special else word[2:] if word.startswith("##") else "\u2581" + word for word, at in words]
    ids = {content: at for at, content in special.items()}
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(texts)
    writer.add_token_types([TokenType.CONTROL if at in special else TokenType.NORMAL for at in range(len(texts))])
    writer.add_token_type_count(2)
    for key, token in [("bos", "[CLS]"), ("eos", "[SEP]"), ("unk", "[UNK]"), ("sep", "[SEP]"), ("pad", "[PAD]")]:
        getattr(writer, f"add_{key}_token_id")(ids[token])
    writer.add_mask_token_id(ids["[MASK]"])


def write(source, output):
    archive = zipfile.ZipFile(source)
    config = json.loads(archive.read("config.json"))
    writer = GGUFWriter(output, "bert")
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.MEAN)
    add_tokens(writer, json.loads(archive.read("tokenizer.json")))
    for name, values in tensors(archive.read("model.safetensors")):
        named = name_of(name)
        if named is not None:
            is_matrix = values.ndim == 2 and "position" not in named and "types" not in named
            writer.add_tensor(named, values.astype(np.float16 if is_matrix else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


write(*sys.argv[1:3])
