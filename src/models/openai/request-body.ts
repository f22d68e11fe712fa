import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { wireName } from '../../internal/schemas/wire-name.ts';
import type { Dialect } from './dialect.ts';
import { asOffered, offeredTools } from './offered-tools.ts';
import type { OpenAISettings } from './options.ts';
import { strictSchema } from './strict-schema.ts';
import { toolParameters } from './tool-parameters.ts';
import { isTold, withWords } from './with-words.ts';

type Body = ChatCompletionCreateParamsStreaming;
type TextParameters = Pick<Body, 'messages' | 'response_format' | 'tools' | 'tool_choice'>;

/** The JSON body of one call. A server that takes no schema as a parameter gets it in words, if the turns do not say it already. */
export function requestBody(asked: ModelRequest, settings: OpenAISettings, dialect: Dialect): Body {
  const request = asOffered(asked, dialect);
  return {
    model: settings.model,
    stream: true,
    ...(request.replyForm === 'tool-call' ? toolParameters(request, dialect) : textParameters(request, dialect)),
    ...(dialect.usage && { stream_options: { include_usage: true } }),
    ...(settings.temperature !== null && { temperature: settings.temperature }),
    ...(settings.maxOutputTokens !== null && { [dialect.tokenLimit]: settings.maxOutputTokens }),
  };
}

function textParameters(request: ModelRequest, dialect: Dialect): TextParameters {
  const tools = offeredTools(request, dialect);
  return { ...formatParameters(request, dialect), ...(tools.length > 0 && { tools, tool_choice: 'auto' }) };
}

function formatParameters(request: ModelRequest, { format }: Dialect): Pick<Body, 'messages' | 'response_format'> {
  const schema = JSON.stringify(request.outputSchema);
  const words = `Reply with one JSON object and nothing else. It must fit this JSON Schema:\n${schema}`;
  const told = isTold(request.turns, schema) ? [...request.turns] : withWords(request.turns, words);
  switch (format) {
    case 'strict_schema':
    case 'json_schema':
      return { messages: [...request.turns], response_format: jsonSchema(request, format === 'strict_schema') };
    case 'json_object':
      return { messages: told, response_format: { type: 'json_object' } };
    case 'text':
      return { messages: told };
    default: {
      const never: never = format;
      return never;
    }
  }
}

function jsonSchema(request: ModelRequest, wantsStrict: boolean): NonNullable<Body['response_format']> {
  const strict = wantsStrict ? strictSchema(request.outputSchema) : null;
  const schema = { ...(strict ?? request.outputSchema) };
  return {
    type: 'json_schema',
    json_schema: { name: wireName(request.schemaName), schema, strict: strict !== null },
  };
}
