import { PostChainError } from '../../../machines/contracts/error.ts';
import { clipped } from '../../../machines/text/clipped.ts';
import { unlessAborted } from '../../internal/signals.ts';
import { withoutSecrets } from '../../internal/without-secrets.ts';
import type { Capability } from '../capability.ts';
import { argumentsSchema } from './arguments-schema.ts';
import { callTool } from './connection.ts';
import { failed } from './failed.ts';
import type { Sdk } from './load-sdk.ts';
import type { McpSettings } from './options.ts';
import type { Reconnecting } from './reconnecting.ts';
import { resultText } from './result-text.ts';
import type { Tool } from './tools.ts';

/** As long as OpenAI takes the description of a function. */
const MAX_DESCRIPTION_CHARS = 1_024;

interface Parts {
  readonly sdk: Sdk;
  readonly settings: McpSettings;
  readonly server: Reconnecting;
}

/** A tool of a server as a capability of this name. */
export function toolCapability({ sdk, settings, server }: Parts, name: string, tool: Tool): Capability {
  const { $schema: _, ...jsonSchema } = tool.inputSchema;
  return {
    name,
    description: descriptionOf(tool),
    arguments: argumentsSchema(sdk, tool.inputSchema),
    jsonSchema,
    ...(settings.timeoutMs !== undefined && { timeoutMs: settings.timeoutMs }),
    execute: async (args, { signal }) => {
      const result = await called(server, tool, args as Record<string, unknown>, signal).catch((error) => {
        throw failed(settings, `failed at "${withoutSecrets(tool.name, [])}"`, error);
      });
      const text = resultText(result);
      if (result.isError)
        throw new PostChainError('mcp_failed', withoutSecrets(text, settings.secrets) || 'the tool failed');
      return text;
    },
  };
}

/** A call is made once; only where the server says that it does not know our session, and so did nothing, again in a new one. */
async function called(server: Reconnecting, tool: Tool, args: Record<string, unknown>, signal: AbortSignal) {
  const connection = await unlessAborted(server.get(), signal);
  try {
    return await callTool(connection, tool, args, signal, server.closed);
  } catch (error) {
    if (!connection.isSessionLost(error)) throw error;
    await server.drop(connection);
    return callTool(await unlessAborted(server.get(), signal), tool, args, signal, server.closed);
  }
}

function descriptionOf({ name, title, description }: Tool): string {
  const text = [description, title, name].map(readable).find((one) => one !== '') ?? '';
  return clipped(text, MAX_DESCRIPTION_CHARS);
}

/** Without control characters but line ends and tabs, and without characters that cannot be seen. */
function readable(text = ''): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}]/gu, '').trim();
}
