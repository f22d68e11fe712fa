import { createPassageIndex, createPostChain } from 'postchain';

const documents = createPassageIndex([{ path: 'hours.md', text: 'The library opens at nine and closes at five.' }]);
const chain = createPostChain({ documents });

export default {
  async fetch(request: Request): Promise<Response> {
    const question = new URL(request.url).searchParams.get('question') ?? '';
    const { status, reasons, answerText, sources } = await chain.run({ request: question, signal: request.signal })
      .answer;
    return Response.json({ status, reasons, answerText, sources });
  },
};
