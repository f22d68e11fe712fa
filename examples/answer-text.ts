import { createPassageIndex, createPostChain } from 'postchain';

const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine and closes at five.' }]);
const run = createPostChain({ documents }).run({ request: 'When does the library open?' });

for await (const event of run.events) {
  if (event.type === 'answer-delta') process.stdout.write(event.text);
  if (event.type === 'answer-void') console.log(`\n[void: ${event.reason}]`);
}
console.log(await run.answer);
