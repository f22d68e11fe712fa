/**
 * What a server is asked in: OpenAI's is spoken by many, in full by few. `format` is how a reply's shape is asked for, the best
 * first; for a tool call `toolChoice` is how the call is asked for, `unsaid` by nothing but the tool, and `strictTool` is whether
 * its arguments must fit. `offers` is how tools are offered beside a reply: with arguments that must fit, as they are, or in words;
 * `anyChoice` is how a call is asked for where it may be one of them. `usage` is whether token counts are asked for; `tokenLimit` is what the longest reply is called.
 */
export interface Dialect {
  readonly format: 'strict_schema' | 'json_schema' | 'json_object' | 'text';
  readonly toolChoice: 'named' | 'required' | 'auto' | 'unsaid';
  readonly strictTool: boolean;
  readonly offers: 'strict' | 'plain' | 'words';
  readonly anyChoice: 'required' | 'auto' | 'unsaid';
  readonly usage: boolean;
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
}

/** A refused request: its HTTP status, all that the server said, and the parameter it named, if any. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly param: string | null;
}

/** The statuses that servers refuse a parameter with. */
export const REFUSING: ReadonlySet<number> = new Set([400, 404, 422, 501]);

const UNKNOWN =
  /not supported|unsupported|not support |unrecogni[sz]ed|unknown (field|parameter)|extra (inputs|fields)/iu;

/** Whether a server says that it knows something not, whatever it is. */
export function isUnknown(text: string): boolean {
  return UNKNOWN.test(text);
}
