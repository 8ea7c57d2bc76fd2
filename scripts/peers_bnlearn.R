# Read a network with R's bnlearn and write it again: Rscript scripts/peers_bnlearn.R FROM TO
# The endings say the format: bif, net or dsc. scripts/peers_read.py calls it, where R and bnlearn are installed.
suppressMessages(library(bnlearn))
readers = list(bif = read.bif, net = read.net, dsc = read.dsc)
writers = list(bif = write.bif, net = write.net, dsc = write.dsc)
paths = commandArgs(TRUE)
ending = tools::file_ext(paths)
writers[[ending[2]]](paths[2], readers[[ending[1]]](paths[1]))
