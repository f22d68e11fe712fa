import type { ChatCompletionTool } from 'openai/resources/chat/completions';
import type { ModelRequest, ToolOffer } from '../../../machines/contracts/model.ts';
import { nullRemover } from '../../internal/schemas/null-members.ts';
import type { Dialect } from './dialect.ts';
import { strictSchema } from './strict-schema.ts';
import { toolNames } from './tool-names.ts';

/** The request as a dialect asks it: where tools are told in words, without any. */
export function asOffered(request: ModelRequest, { offers }: Dialect): ModelRequest {
  if (request.tools === undefined || offers !== 'words') return request;
  const { tools: _, turnsWithoutTools, ...others } = request;
  return { ...others, turns: turnsWithoutTools ?? request.turns };
}

/** The tools offered beside the reply, as the server takes them. */
export function offeredTools(request: ModelRequest, { offers }: Dialect): ChatCompletionTool[] {
  const { offered } = toolNames(request);
  return (request.tools ?? []).map((tool, at) => offeredTool(tool, offered[at] ?? tool.name, offers === 'strict'));
}

function offeredTool(
  { description, parameters: schema }: ToolOffer,
  name: string,
  wantsStrict: boolean,
): ChatCompletionTool {
  const strict = wantsStrict ? strictArguments(schema) : null;
  const parameters = { ...(strict ?? schema) };
  return { type: 'function', function: { name, description, parameters, ...(strict !== null && { strict: true }) } };
}

/**
 * Strict mode wants every member, and null for one that is left out; whoever runs the tool takes no such null. So a tool with a member
 * that may be left out is not asked for strictly.
 */
function strictArguments(schema: ToolOffer['parameters']): ToolOffer['parameters'] | null {
  return nullRemover(schema) === null ? strictSchema(schema) : null;
}
