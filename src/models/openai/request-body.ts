import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { ChatTurn, ModelRequest } from '../../../machines/contracts/model.ts';
import type { Dialect } from './dialect.ts';
import type { OpenAISettings } from './options.ts';
import { strictSchema } from './strict-schema.ts';

type Body = ChatCompletionCreateParamsStreaming;

/** The JSON body of one call. A server that takes no schema as a parameter gets it in words, so it is never lost. */
export function requestBody(request: ModelRequest, settings: OpenAISettings, dialect: Dialect): Body {
  const inWords = dialect.format === 'json_object' || dialect.format === 'text';
  const format = responseFormat(request, dialect.format);
  return {
    model: settings.model,
    messages: inWords ? withSchemaInWords(request) : [...request.turns],
    stream: true,
    ...(dialect.usage && { stream_options: { include_usage: true } }),
    ...(format !== null && { response_format: format }),
    ...(settings.temperature !== null && { temperature: settings.temperature }),
    ...(settings.maxOutputTokens !== null && { [dialect.tokenLimit]: settings.maxOutputTokens }),
  };
}

function responseFormat(request: ModelRequest, format: Dialect['format']): NonNullable<Body['response_format']> | null {
  if (format === 'text') return null;
  if (format === 'json_object') return { type: 'json_object' };
  const strict = format === 'strict_schema' ? strictSchema(request.outputSchema) : null;
  const name = request.schemaName.replaceAll(/[^\w-]/gu, '_').slice(0, 64) || 'reply';
  const schema = { ...(strict ?? request.outputSchema) };
  return { type: 'json_schema', json_schema: { name, schema, strict: strict !== null } };
}

/** Into the first system turn, as many chat templates take only one. */
function withSchemaInWords(request: ModelRequest): ChatTurn[] {
  const words = `Reply with one JSON object and nothing else. It must fit this JSON Schema:\n${JSON.stringify(request.outputSchema)}`;
  const [first, ...rest] = request.turns;
  if (first?.role !== 'system') return [{ role: 'system', content: words }, ...request.turns];
  return [{ role: 'system', content: `${first.content}\n\n${words}` }, ...rest];
}
