import type { ChatCompletionCreateParamsStreaming, ChatCompletionTool } from 'openai/resources/chat/completions';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import type { Dialect } from './dialect.ts';
import { offeredTools } from './offered-tools.ts';
import { strictSchema } from './strict-schema.ts';
import { toolNames } from './tool-names.ts';
import { withWords } from './with-words.ts';

type Parameters = Pick<ChatCompletionCreateParamsStreaming, 'messages' | 'tools' | 'tool_choice'>;

/**
 * A reply as the arguments of one call of one tool [A12], beside the tools that are offered. `parallel_tool_calls` is never sent:
 * reasoning models and many servers refuse it. Where the server does not force the call, words ask for it.
 */
export function toolParameters(request: ModelRequest, dialect: Dialect): Parameters {
  const { reply: name } = toolNames(request);
  const offered = offeredTools(request, dialect);
  const tools = [tool(request, name, dialect.strictTool), ...offered];
  const messages = [...request.turns];
  const words = `Reply by one call of ${offered.length === 0 ? `the tool ${name}` : 'a tool'} and nothing else.`;
  const choice = offered.length === 0 ? dialect.toolChoice : dialect.anyChoice;
  switch (choice) {
    case 'named':
      return { messages, tools, tool_choice: { type: 'function', function: { name } } };
    case 'required':
      return { messages, tools, tool_choice: 'required' };
    case 'auto':
      return { messages: withWords(messages, words), tools, tool_choice: 'auto' };
    case 'unsaid':
      return { messages: withWords(messages, words), tools };
    default: {
      const never: never = choice;
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
