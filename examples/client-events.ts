import { createPostChain } from 'postchain';
import { clientEventSchema } from 'postchain/machines';

const run = createPostChain().run({ request: 'What does the Yield phase decide?' });
const body = '{"type":"run.adjusted","limits":{"maxModelCalls":1000000}}';
const { success, data } = clientEventSchema.safeParse(JSON.parse(body));
if (success) run.send(data);
else console.log('400: a client cannot send this event');
