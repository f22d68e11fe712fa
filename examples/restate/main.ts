import { createServer } from 'node:http2';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import { createPassageIndex } from 'postchain';
import { loadDocuments } from 'postchain/node';
import { createRestateChain } from 'postchain/restate';

const { documents } = await loadDocuments(['docs']);
const chain = createRestateChain({ documents: createPassageIndex(documents) });

const port = Number(process.env['PORT'] ?? 9080);
const server = createServer(createEndpointHandler({ services: [chain] }));
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
