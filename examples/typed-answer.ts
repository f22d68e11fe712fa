import { createPostChain } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const model = scriptedModel({ value: [{ city: 'Oslo', days: 3 }] }, { otherwise: replies });
const answer = z.object({ city: z.string(), days: z.int() });
const { value, reasons } = await createPostChain({ model }).run({ request: 'Where to, and for how long?', answer })
  .answer;
if (value === undefined) console.warn(reasons);
else console.log(value.city, value.days); // Oslo 3
