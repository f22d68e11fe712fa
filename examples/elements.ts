import { createStructuredOutput, listOf } from 'postchain';
import { scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const City = z.object({ name: z.string(), population: z.int().positive() });

const model = scriptedModel({
  cities: [
    {
      reply: [
        { name: 'Osaka', population: 2_750_000 },
        { name: 'Quito', population: 1_780_000 },
      ],
    },
  ],
});

const cities = createStructuredOutput({ model, schema: listOf(City), name: 'cities', prompt: 'Name two cities.' });

let shown: string[] = [];
for await (const update of cities.elements) {
  if (update.type === 'reset') shown = [];
  else shown.push(update.value.name);
  console.log(shown);
}
