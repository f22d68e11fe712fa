import { chain } from './chain.mts';

const [, , request = ''] = process.argv;
const { answerText, status, confidence } = await chain.run({ request }).answer;
console.log(answerText);
console.log(status, confidence);
