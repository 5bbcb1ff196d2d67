@echo off
rem Runs the rdma4j command line from an unpacked archive, on the runtime beside it or on a JDK 25 of JAVA_HOME or the PATH.
setlocal
set "root=%~dp0.."
set "java=java"
if defined JAVA_HOME set "java=%JAVA_HOME%\bin\java"
if exist "%root%\runtime\bin\java.exe" set "java=%root%\runtime\bin\java"

"%java%" --version 2>nul | findstr /b /r /c:"[a-z]* 25[. ]" >nul
if errorlevel 1 (
    echo rdma4j: no JDK 25 found in JAVA_HOME or on the PATH; install one, for example Eclipse Temurin 25, and set JAVA_HOME to it 1>&2
    exit /b 1
)
if "%~1"=="run" (
    echo rdma4j: run needs a POSIX shell: use WSL, or start the program with -javaagent:%root%\lib\rdma4j-sockets.jar=RULES 1>&2
    exit /b 2
)
"%java%" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC %RDMA4J_OPTS% -cp "%root%\lib\*" io.rdma4j.tools.Main %*
exit /b %errorlevel%
