/**
 * Recording waits for the lock of the account of each company. These connections are for recording alone, so that codes are
 * sent, and their leases renewed, while accounts are locked.
 */
export const CONNECTIONS_FOR_RECORDING = 2
