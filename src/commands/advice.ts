import { AppError, UsageError } from '../base/errors.ts'

/** The error for an unknown id or name also names the command that lists the known ones. */
export async function orAdvise<T>(advice: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError && error.kind === 'not_found' ? new UsageError(advice) : error
  }
}

export const noCompany = (companyId: number) => `There is no company ${companyId}: \`tidings company list\` shows them.`
export const noSender = (senderId: number) => `There is no sender ${senderId}: \`tidings sender list\` shows them.`
export const noGateway = (called: string) => `There is no gateway "${called}": \`tidings gateway list\` shows them.`
export const noPartner = (login: string) =>
  `There is no partner with the login "${login}": \`tidings partner list\` shows them.`
export const noStaff = (login: string) =>
  `There is no member of staff with the login "${login}": \`tidings staff list\` shows them.`
export const noDispatch = (dispatchId: number) =>
  `There is no dispatch ${dispatchId}: \`tidings dispatch list --company N\` shows them.`
