/** Host, port and jump hosts of a server: an address behind another jump host may be another machine. */
export interface MachineAddress {
  readonly host: string
  readonly port: number
  /** User of the log-in, which belongs to the route but not to the machine. */
  readonly username?: string
  readonly via?: MachineAddress
}

/** Identifies a machine by its address, and by its jump hosts if any. */
export const formatMachineAddress = ({ host, port, via }: MachineAddress): string =>
  `${host.toLowerCase()}:${port}${via === undefined ? "" : ` through ${formatMachineAddress(via)}`}`
