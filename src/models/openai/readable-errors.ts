type Fetch = typeof globalThis.fetch;

/**
 * The openai client reads an error only from the member `error` of its body; FastAPI (`detail`), vLLM (`message`) and Mistral
 * (`object: 'error'`) put it elsewhere, and the client then says "(no body)". This fetch puts such a body where it is looked for.
 */
export function withReadableErrors(inner: Fetch): Fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (response.status < 400) return response;
    const { status, statusText, headers } = response;
    return new Response(readable(await response.text()), { status, statusText, headers });
  };
}

function readable(text: string): string {
  const body = parsed(text);
  if (typeof body !== 'object' || body === null || ('error' in body && body.error)) return text;
  const message = 'message' in body && typeof body.message === 'string' ? body.message : text;
  return JSON.stringify({ error: { ...body, message } });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
