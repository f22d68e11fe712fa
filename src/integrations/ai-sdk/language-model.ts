/**
 * The part of the AI SDK's language model interface that PostChain uses. `LanguageModelV2`, `V3` and `V4` of `@ai-sdk/provider` match it, so
 * that package need not be installed.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  doStream(options: AiSdkCallOptions): PromiseLike<{ readonly stream: ReadableStream<AiSdkStreamPart> }>;
}

/** Options of one call, the same in all versions. */
export interface AiSdkCallOptions {
  prompt: AiSdkMessage[];
  responseFormat?: { type: 'json'; schema?: AiSdkJsonSchema; name?: string };
  tools?: { type: 'function'; name: string; description: string; inputSchema: AiSdkJsonSchema }[];
  toolChoice?: { type: 'auto' } | { type: 'required' } | { type: 'tool'; toolName: string };
  maxOutputTokens?: number;
  temperature?: number;
  headers?: Record<string, string | undefined>;
  providerOptions?: AiSdkProviderOptions;
  abortSignal?: AbortSignal;
}

export type AiSdkMessage =
  | { role: 'system'; content: string; providerOptions?: AiSdkProviderOptions }
  | { role: 'assistant'; content: (AiSdkTextPart | AiSdkToolCallPart)[] }
  | { role: 'tool'; content: AiSdkToolResultPart[] }
  | { role: 'user'; content: (AiSdkTextPart | AiSdkFilePart)[] };

interface AiSdkTextPart {
  type: 'text';
  text: string;
  providerOptions?: AiSdkProviderOptions;
}

interface AiSdkToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: unknown;
}

export interface AiSdkToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text' | 'error-text'; value: string };
}

/** `data` is Base64 text; in V4, an object contains it. Its type is `never` because the types of the versions are incompatible. */
export interface AiSdkFilePart {
  type: 'file';
  mediaType: string;
  filename?: string;
  data: never;
}

/** A JSON Schema, draft 7. */
export interface AiSdkJsonSchema {
  [keyword: string]: unknown;
}

/** Options by provider, for example `{ openai: { reasoningEffort: 'low' } }`. */
export type AiSdkProviderOptions = Record<string, Record<string, AiSdkJson>>;
type AiSdkJson = null | string | number | boolean | AiSdkJson[] | { [member: string]: AiSdkJson };

/** One part of a stream, with the members that PostChain reads. Which ones a part has depends on its type. */
export interface AiSdkStreamPart {
  readonly type: string;
  readonly id?: unknown;
  readonly delta?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly inputEncoding?: unknown;
  readonly providerExecuted?: unknown;
  readonly finishReason?: unknown;
  readonly usage?: unknown;
  readonly providerMetadata?: unknown;
  readonly error?: unknown;
  readonly warnings?: unknown;
}
