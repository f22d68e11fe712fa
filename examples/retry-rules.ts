import { AttemptsExhausted, createStructuredOutput, fallbackModel, maxCorrections, retryPolicy } from 'postchain';
import { always, scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const small = scriptedModel({ answer: [always({ yes: 'perhaps' })] }, { id: 'small' });
const large = scriptedModel({ answer: [always({ yes: 'surely' })] }, { id: 'large' });

const policy = retryPolicy(maxCorrections(1), fallbackModel(large), {
  shouldRetry: (_, { stage }) => stage !== 'transformation',
  recordFailure: (record) => ({ ...record, text: `${record.text.length} characters` }),
});

const schema = z.object({ yes: z.boolean() });
const answer = createStructuredOutput({ model: small, schema, name: 'answer', prompt: 'Is the store open?', policy });
try {
  console.log(await answer.value);
} catch (error) {
  if (!(error instanceof AttemptsExhausted)) throw error;
  for (const { model, text, failure } of error.attempts) console.log(model, text, failure?.issues);
}
