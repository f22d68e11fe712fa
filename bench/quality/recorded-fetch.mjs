/**
 * A call of the model. `meanLogprob`: the mean natural logarithm of the probability of its output tokens; null if the server states none.
 *
 * @typedef {{ text: string, finish: string | null, inputTokens: number, outputTokens: number, meanLogprob: number | null, ms: number,
 *   failure?: string }} Call
 */

/**
 * Returns a `fetch` that asks for the probabilities of tokens, and the calls that were made with it.
 *
 * @param {{ logprobs?: boolean }} options
 */
export function recordedFetch({ logprobs = false }) {
  /** @type {Call[]} */
  const calls = [];
  /** @type {typeof globalThis.fetch} */
  const fetch = async (url, init) => {
    const startedAt = performance.now();
    const call = { text: '', finish: null, inputTokens: 0, outputTokens: 0, meanLogprob: null, ms: 0 };
    calls.push(call);
    const body = logprobs ? withLogprobs(String(init?.body)) : init?.body;
    const response = await globalThis.fetch(url, { ...init, ...(body != null && { body }) });
    if (response.body === null) return response;
    const [given, kept] = response.body.tee();
    void new Response(kept)
      .text()
      .then((text) => Object.assign(call, response.ok ? readReply(text) : { failure: text.slice(0, 300) }))
      .catch((error) => Object.assign(call, { failure: String(error) }))
      .finally(() => {
        call.ms = Math.round(performance.now() - startedAt);
      });
    const { status, statusText, headers } = response;
    return new Response(given, { status, statusText, headers: withoutLength(headers) });
  };
  return { fetch, calls };
}

/** llama.cpp has no probabilities for a stream with tools. */
function withLogprobs(/** @type {string} */ body) {
  const request = JSON.parse(body);
  return request.stream && request.tools?.length > 0 ? body : JSON.stringify({ ...request, logprobs: true });
}

/** The body is decoded already. */
function withoutLength(/** @type {Headers} */ headers) {
  const kept = new Headers(headers);
  for (const name of ['content-length', 'content-encoding']) kept.delete(name);
  return kept;
}

/** @param {string} reply A chat completion, or a stream of its chunks. */
function readReply(reply) {
  const chunks = reply.startsWith('data:')
    ? reply
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice('data: '.length)))
    : [JSON.parse(reply)];
  let text = '';
  let finish = null;
  let usage = { prompt_tokens: 0, completion_tokens: 0 };
  /** @type {number[]} */
  const logprobs = [];
  for (const chunk of chunks) {
    const [choice] = chunk.choices ?? [];
    const part = choice?.delta ?? choice?.message;
    text += part?.content ?? part?.tool_calls?.[0]?.function?.arguments ?? '';
    finish = choice?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
    for (const { logprob } of choice?.logprobs?.content ?? []) logprobs.push(logprob);
  }
  return {
    text,
    finish,
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    meanLogprob: logprobs.length === 0 ? null : logprobs.reduce((sum, one) => sum + one, 0) / logprobs.length,
  };
}
