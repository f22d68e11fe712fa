import { createPostChain } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

// With a real model: openaiModel({ model: 'gpt-4.1-mini', accepts: ['image/*', 'application/pdf'] })
const model = scriptedModel({}, { otherwise: replies, accepts: ['image/*'] });
const chain = createPostChain({ model });

// Bytes (such as those of readFile), Base64 text or a data: URL.
const photo =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const run = chain.run({
  request: [
    { type: 'text', text: 'Which bridge is in this photo?' },
    { type: 'image', image: photo, filename: 'bridge.png' },
  ],
});
const { answerText } = await run.answer;
console.log(answerText);

for (const entry of run.entries) if (entry.type === 'attachment') console.log(entry.name, entry.bytes, entry.digest);
