module transcribe

go 1.19
