import { PostChainError } from '../../../machines/contracts/error.ts';

const PACKAGE = '@modelcontextprotocol/client';

export type Sdk = Awaited<ReturnType<typeof imported>>;

/** The official SDK, an optional peer: loaded when a server is connected, so that importing PostChain does not ask for it. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await imported();
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    const message = `connectMcp needs the package ${PACKAGE}, which is not installed beside postchain; run npm install ${PACKAGE}`;
    throw new PostChainError('mcp_failed', message, { cause });
  }
}

/** Test runners and bundlers wrap what Node throws. */
function isMissing(thrown: unknown): boolean {
  const { code, cause } = (thrown ?? {}) as { code?: unknown; cause?: unknown };
  return code === 'ERR_MODULE_NOT_FOUND' || (cause !== undefined && isMissing(cause));
}

async function imported() {
  const [{ Client, StreamableHTTPClientTransport }, { StdioClientTransport }, { CfWorkerJsonSchemaValidator }] =
    await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
      import('@modelcontextprotocol/client/validators/cf-worker'),
    ]);
  return { Client, StreamableHTTPClientTransport, StdioClientTransport, CfWorkerJsonSchemaValidator };
}
