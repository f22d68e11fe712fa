import { isStepCount, ToolLoopAgent, tool } from 'ai-sdk-7';
import * as z from 'zod';
import { model } from '../ai-sdk-model.mjs';
import { bank } from '../world.mjs';

const Refund = z.object({ order: z.string(), cents: z.int().min(1).max(100_000) });
export const agent = new ToolLoopAgent({
  model,
  stopWhen: isStepCount(4),
  tools: {
    refund: tool({
      description: 'Refunds an order.',
      inputSchema: Refund,
      execute: (refund, { toolCallId }) => bank.refund(toolCallId, refund),
    }),
    escalate: tool({ description: 'A colleague answers the customer.', inputSchema: z.object({}) }),
  },
  toolApproval: { refund: ({ cents }) => (cents > 5_000 ? 'user-approval' : undefined) },
  experimental_toolApprovalSecret: 'a secret of this server',
});

const isRefund = ({ type, toolName, output }) =>
  type === 'tool-result' && toolName === 'refund' && output.type === 'text';

export const run = async (mail, askPerson) => {
  const messages = [{ role: 'user', content: mail }];
  for (;;) {
    const { content, responseMessages } = await agent.generate({ messages });
    messages.push(...responseMessages);
    const requests = content.filter(({ type, isAutomatic }) => type === 'tool-approval-request' && !isAutomatic);
    if (requests.length === 0)
      return messages.flatMap((message) => message.content).some(isRefund) ? 'refunded' : 'left';
    const answers = requests.map(({ approvalId, toolCall: { input } }) => ({
      type: 'tool-approval-response',
      approvalId,
      approved: askPerson(input),
    }));
    messages.push({ role: 'tool', content: answers });
  }
};
