/** What a server said, as far as it matters here. */
interface Said {
  readonly status: number;
  readonly code: string | null;
  readonly text: string;
}

const STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);
const CODES: ReadonlySet<string> = new Set(['context_length_exceeded', 'exceed_context_size_error']);

const LIMIT = /(max(imum)?|model'?s|available|allowed) (context|prompt|input|model) (length|size|window)/iu;
const OVER =
  /prompt is too long|context_length_exceeded|exceeds? the (context|maximum number of tokens)|than the context length/iu;

/** Whether the prompt does not fit the model's window, which no other way of asking and no retry can help. */
export function isPromptTooLong({ status, code, text }: Said): boolean {
  return STATUSES.has(status) && (CODES.has(code ?? '') || LIMIT.test(text) || OVER.test(text));
}
