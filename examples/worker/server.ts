import { createPassageIndex, createPostChain, memoryJournals } from 'postchain';
import { bearerTokens, createServer, type Server } from 'postchain/server';

interface Env {
  readonly TOKEN: string;
  readonly CHAIN: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

/** A Durable Object. A Worker alone cannot serve runs, because they outlive the request that starts them. */
export class ChainServer {
  readonly #server: Promise<Server>;

  constructor(_: unknown, { TOKEN }: Env) {
    const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine and closes at five.' }]);
    const chain = createPostChain({ documents, journals: memoryJournals() });
    this.#server = createServer({ chain, authorize: bearerTokens({ [TOKEN]: 'alice' }) });
  }

  async fetch(request: Request): Promise<Response> {
    return (await this.#server).fetch(request);
  }
}

export default { fetch: (request: Request, { CHAIN }: Env) => CHAIN.getByName('chain').fetch(request) };
