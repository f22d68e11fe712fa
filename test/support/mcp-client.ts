import { Client, type ElicitResult, type Transport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';

export interface ClientOptions {
  readonly mode?: 'legacy' | 'auto';
  /** Answers the questions of the server, by their texts. By default, the client cannot be asked. */
  readonly answer?: (message: string) => ElicitResult | Promise<ElicitResult>;
}

/** Connects the official client, until the test ends. */
export async function connectClient(transport: Transport, { mode = 'auto', answer }: ClientOptions = {}) {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params.message ?? ''));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}
