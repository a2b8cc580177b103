/**
 * Recording waits for the locks of each company. These connections are for recording alone, so that codes are
 * sent, and their leases renewed, while companies are locked.
 */
export const CONNECTIONS_FOR_RECORDING = 2
