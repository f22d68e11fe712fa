import type { ChatCompletionCreateParamsStreaming, ChatCompletionTool } from 'openai/resources/chat/completions';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { wireName } from '../../schemas/wire-name.ts';
import type { Dialect } from './dialect.ts';
import { strictSchema } from './strict-schema.ts';
import { withWords } from './with-words.ts';

type Parameters = Pick<ChatCompletionCreateParamsStreaming, 'messages' | 'tools' | 'tool_choice'>;

/**
 * A reply as the arguments of one call of one tool [A12]. `parallel_tool_calls` is never sent: reasoning models and many servers
 * refuse it. Where the server does not force the call, words ask for it.
 */
export function toolParameters(request: ModelRequest, { toolChoice, strictTool }: Dialect): Parameters {
  const name = wireName(request.schemaName);
  const tools = [tool(request, name, strictTool)];
  const messages = [...request.turns];
  const words = `Reply by one call of the tool ${name} and nothing else.`;
  switch (toolChoice) {
    case 'named':
      return { messages, tools, tool_choice: { type: 'function', function: { name } } };
    case 'required':
      return { messages, tools, tool_choice: 'required' };
    case 'auto':
      return { messages: withWords(messages, words), tools, tool_choice: 'auto' };
    case 'unsaid':
      return { messages: withWords(messages, words), tools };
    default: {
      const never: never = toolChoice;
      return never;
    }
  }
}

function tool({ outputSchema }: ModelRequest, name: string, wantsStrict: boolean): ChatCompletionTool {
  const strict = wantsStrict ? strictSchema(outputSchema) : null;
  const told = outputSchema['description'];
  const description = typeof told === 'string' && told !== '' ? told : 'Gives the reply, whole.';
  const parameters = { ...(strict ?? outputSchema) };
  return { type: 'function', function: { name, description, parameters, ...(strict !== null && { strict: true }) } };
}
